from django.db import models


class Step(models.Model):
    """One step of one job, stored by one attempt. Only worker processes install the application; the
    tests make the table themselves, hence the label."""

    job_id = models.UUIDField()
    number = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()

    class Meta:
        app_label = "steps"
        constraints = (models.UniqueConstraint(fields=("job_id", "number"), name="step_once"),)

    def __str__(self):
        return f"step {self.number} of {self.job_id}"
