import { createAnswers } from '../../../../src/recognizers/sherpa-onnx/model-process.ts';
import { answerMark } from '../../../../src/recognizers/sherpa-onnx/messages.ts';
import { copiesThatFit } from '../../../../src/recognizers/sherpa-onnx/model-copies.ts';

test('answers → each when it is asked for, with what was complained of before it, however many bytes come in all', async () => {
  const answers = createAnswers();
  const line = 'x'.repeat(1_000_000);
  for (let count = 0; count < 10; count++) {
    const asked = answers.next();
    answers.push(Buffer.from(`a complaint\nabout ${count}\n\n${answerMark}${line}${count}`));
    answers.push(Buffer.from('\n'));
    expect(await asked).toEqual({ answer: `${line}${count}`, complaint: `a complaint about ${count}` });
  }
});

test('a line without an end → who waits gets an error after a mebibyte', async () => {
  const answers = createAnswers();
  const waiting = answers.next();
  for (let count = 0; count < 20; count++) answers.push(Buffer.alloc(65_536, 'x'));
  await expect(waiting).rejects.toThrow('a line of output is too long');
});

const gibibyte = 1024 ** 3;

test.each([
  ['a small model on a large machine', 0.1, 64, 160],
  ['Parakeet on a machine of 16 GiB', 0.65, 16, 6],
  ['a model of half the memory', 4, 8, 1],
  ['a model larger than the memory', 20, 8, 1],
])('%s (%d GiB, %d GiB) → %d at once', (_, model, memory, copies) => {
  expect(copiesThatFit(model * gibibyte, memory * gibibyte)).toBe(copies);
});
