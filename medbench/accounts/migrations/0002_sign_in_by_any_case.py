import django.core.validators
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.AlterModelManagers(
            name='user',
            managers=[
            ],
        ),
        migrations.AlterField(
            model_name='user',
            name='username',
            field=models.CharField(error_messages={'unique': 'This sign-in name is taken.'}, help_text='Letters, digits, dot, hyphen and underscore.', max_length=150, unique=True, validators=[django.core.validators.RegexValidator('^[\\w.-]+\\Z', 'Use only letters, digits, dot, hyphen and underscore.')], verbose_name='sign-in name'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('username'), name='username_unique', violation_error_message='This sign-in name is taken.'),
        ),
    ]
