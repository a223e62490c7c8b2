import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { projectFolder } from '../../../architecture/source-files.ts';
import { createAnswers } from '../../../../src/recognizers/sherpa-onnx/model-process.ts';
import { diarizersThatFit } from '../../../../src/recognizers/sherpa-onnx/diarization.ts';
import { answerMark } from '../../../../src/recognizers/sherpa-onnx/messages.ts';
import { copiesThatFit } from '../../../../src/recognizers/sherpa-onnx/model-copies.ts';

/** In a process of its own, since it uses up its file descriptors. Compiled and looked up before: that needs some too. */
const program = `
  const { closeSync, openSync } = await import('node:fs');
  const { boundedCommand } = await import('./src/children/bounded-command.ts');
  const { startModelProcess } = await import('./src/recognizers/sherpa-onnx/model-process.ts');
  await boundedCommand(process.execPath, [], { memoryBytes: 1, cpuSeconds: 1, fileBytes: 0, openFiles: 1 });
  process.stdout.write('before\\n');
  try { for (;;) openSync('/dev/null'); } catch {}
  const child = await startModelProcess({ recognition: {} }, 1024 ** 3);
  const request = { file: '/dev/null', fromMs: 0, toMs: 1 };
  const error = await child.ask(request, 60_000, new AbortController().signal).catch((thrown) => thrown);
  process.stdout.write(\`\${error.name} \${error.retryable} \${error.message}\\n\`);
  await child.kill();
  process.exit();
`;

test('no file descriptor left → RecognizerError, retryable, and the worker goes on', async () => {
  const command = ['--nofile=128', process.execPath, '--input-type=module', '-e', program];
  const child = spawn('prlimit', command, { cwd: projectFolder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/^before\nRecognizerError true sherpa-onnx could not be started: spawn .*EMFILE\n$/),
    stderr: '',
  });
});

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

test('an end → who waits gets its error, and who asks later', async () => {
  const answers = createAnswers();
  const waiting = answers.next();
  answers.push(Buffer.from('no such model\n'));
  answers.end(new Error('was killed by SIGKILL'));
  answers.end(new Error('something that followed from it'));
  await expect(waiting).rejects.toThrow('was killed by SIGKILL no such model');
  await expect(answers.next()).rejects.toThrow('was killed by SIGKILL');
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

test.each([
  [1, 1],
  [8, 3],
  [64, 26],
])('%d GiB → %d processes tell speakers apart at once', (memory, processes) => {
  expect(diarizersThatFit(memory * gibibyte)).toBe(processes);
});
