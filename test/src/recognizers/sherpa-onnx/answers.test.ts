import { createAnswers } from '../../../../src/recognizers/sherpa-onnx/answers.ts';

test('answers that are asked for one after the other → each its line, however many bytes come in all', async () => {
  const answers = createAnswers();
  const line = 'x'.repeat(1_000_000);
  for (let count = 0; count < 10; count++) {
    const answer = answers.next();
    answers.push(Buffer.from(`${line.slice(1)}${count}`));
    answers.push(Buffer.from('\n'));
    expect(await answer).toBe(`${line.slice(1)}${count}`);
  }
});

test('a line without an end → an error after a mebibyte', () => {
  const answers = createAnswers();
  void answers.next();
  const push = () => {
    for (let count = 0; count < 20; count++) answers.push(Buffer.alloc(65_536, 'x'));
  };
  expect(push).toThrow('a line of output is too long');
});

test('an end → who waits gets its error, and who asks later', async () => {
  const answers = createAnswers();
  const waiting = answers.next();
  answers.end(new Error('was killed by SIGKILL'));
  answers.end(new Error('something that followed from it'));
  await expect(waiting).rejects.toThrow('was killed by SIGKILL');
  await expect(answers.next()).rejects.toThrow('was killed by SIGKILL');
});
