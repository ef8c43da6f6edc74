from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_sign_in_by_any_case'),
    ]

    operations = [
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('at', models.DateTimeField(db_index=True)),
            ],
            options={
                'indexes': [models.Index(fields=['key', 'at'], name='attempt_key_at')],
            },
        ),
    ]
