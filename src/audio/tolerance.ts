/**
 * How much less may be decoded than is said. Headers, priming and padding of codecs make decoded audio shorter: by 0.2 s
 * at most over all files of the tests. The auditor has the same tolerance.
 */
export const toleranceMs = (saidMs: number): number => saidMs * 0.01 + 1000;
