/**
 * Starts Prism's proxy before the service, and lets the command that follows the contract's file go through it. Uploads go
 * to the service itself, because Prism decodes every body as UTF-8, which destroys a recording.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [contract = '', port = '', program = '', ...args] = process.argv.slice(2);
const { API_URL = '' } = process.env;

const proxy = spawn(
  'node_modules/.bin/prism',
  // A wrong request or answer becomes an error instead of a line in the log.
  ['proxy', contract, API_URL, '--errors', '--host', '127.0.0.1', '--port', port],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
proxy.once('exit', () => process.exit(1));
for await (const line of createInterface({ input: proxy.stdout })) {
  process.stderr.write(`${line}\n`);
  if (line.includes('Prism is listening')) break;
}
proxy.stdout.resume();

const env = { ...process.env, API_URL: `http://127.0.0.1:${port}`, UPLOAD_URL: API_URL };
spawn(program, args, { env, stdio: 'inherit' }).once('exit', (code) => {
  proxy.removeAllListeners('exit').kill();
  process.exitCode = code ?? 1;
});
