"""What may happen to studies, assignments and verdicts: every rule, in exactly one place."""
