import { copiesThatFit, diarizersThatFit } from '../../../../src/recognizers/sherpa-onnx/copies-that-fit.ts';

const gibibyte = 1024 ** 3;

test.each([
  ['a small model on a large machine', 0.1, 64, 160],
  ['Parakeet on a machine of 16 GiB', 0.65, 16, 6],
  ['a model of half the memory', 4, 8, 1],
  ['a model larger than the memory', 20, 8, 1],
])('%s (%d GiB, %d GiB) → %d at once', (_, model, memory, copies) => {
  expect(copiesThatFit(model * gibibyte, memory * gibibyte)).toBe(copies);
});

test('a model of a few kilobytes on this machine → no bound that anybody meets', () => {
  expect(copiesThatFit(20_000)).toBeGreaterThan(1_000);
});

test.each([
  [1, 1],
  [8, 3],
  [64, 26],
])('%d GiB → %d processes tell speakers apart at once', (memory, processes) => {
  expect(diarizersThatFit(memory * gibibyte)).toBe(processes);
});
