import { newTrace, readTraceparent, toTraceparent } from '../../../src/tracing/trace-context.ts';

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

test.each([
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`00-${traceId}-${spanId}-03`, true],
  [`cc-${traceId}-${spanId}-01-what-comes-later`, true],
])('%s → read, and passed on as version 00', (header, isSampled) => {
  const context = readTraceparent(header)!;
  expect(context).toEqual({ traceId, spanId, isSampled });
  expect(toTraceparent(context)).toBe(`00-${traceId}-${spanId}-0${isSampled ? 1 : 0}`);
});

// W3C Trace Context, section 3.2.2
test.each([
  ['nothing', undefined],
  ['an empty one', ''],
  ['version ff', `ff-${traceId}-${spanId}-01`],
  ['more than version 00 has', `00-${traceId}-${spanId}-01-more`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
  ['an id that is too short', `00-${traceId.slice(1)}-${spanId}-01`],
  ['a header that was sent twice', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
  ['a line break', `00-${traceId}-${spanId}-01\n`],
])('%s → none', (_what, header) => {
  expect(readTraceparent(header)).toBeUndefined();
});

test('a new trace → one that can be read, and never the same', () => {
  expect(readTraceparent(toTraceparent(newTrace()))).toBeDefined();
  expect(newTrace().traceId).not.toBe(newTrace().traceId);
});
