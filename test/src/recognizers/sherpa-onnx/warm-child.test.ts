import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { projectFolder } from '../../../architecture/source-files.ts';

/** In a process of its own, since it uses up its file descriptors. Compiled and looked up before: that needs some too. */
const program = `
  const { closeSync, openSync } = await import('node:fs');
  const { boundedCommand } = await import('./src/children/bounded-command.ts');
  const { startWarmChild } = await import('./src/recognizers/sherpa-onnx/warm-child.ts');
  await boundedCommand(process.execPath, [], { memoryBytes: 1, cpuSeconds: 1, fileBytes: 0, openFiles: 1 });
  process.stdout.write('before\\n');
  try { for (;;) openSync('/dev/null'); } catch {}
  const child = await startWarmChild({ recognition: {} }, 1024 ** 3);
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
