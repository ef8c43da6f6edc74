from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0007_add_rankings")]

    operations = [
        migrations.AddField("board", "requires_novelty_audit", models.BooleanField(default=False)),
    ]
