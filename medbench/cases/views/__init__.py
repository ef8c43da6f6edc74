"""Pages of benchmarks and cases."""
