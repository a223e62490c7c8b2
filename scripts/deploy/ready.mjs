// The health check of a container: exits with 0 while the process beside it serves.
const ready = `http://127.0.0.1:${process.env.OPS_PORT || 9090}/readyz`;
const answer = await fetch(ready).catch(() => undefined);
process.exitCode = answer?.ok ? 0 : 1;
