"""An application with background work, for the tests of jobs: every step leaves one row."""
