"""Files that come in and go out: bundles and result files, read with precise problems. No Django."""
