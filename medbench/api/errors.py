"""Problem bodies."""

from rest_framework.views import exception_handler as answer

__all__ = ["answer"]
