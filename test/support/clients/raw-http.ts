/** HTTP as bytes, for what no HTTP client would send. */
import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  text: string;
}

/**
 * Sends bytes and reads until the server closes the connection, which `Connection: close` in the bytes asks it to.
 * @returns a character for each byte
 */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', reject);
  socket.on('close', () => resolve(text));
  return promise;
}

/** The answers in a connection's bytes, a character for each, and each answer with a `Content-Length` in bytes. */
export function parseAnswers(bytes: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = bytes; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':')[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const text = Buffer.from(rest.slice(end + 4, end + 4 + length), 'latin1').toString();
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, text });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

/** One request on a connection of its own. */
export async function rawRequest(
  port: number,
  method: string,
  target: string,
  headers: string[] = [],
): Promise<RawAnswer> {
  const head = [`${method} ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers];
  const [answer] = parseAnswers(await sendRaw(port, `${head.join('\r\n')}\r\n\r\n`));
  if (answer === undefined) throw new Error(`no answer to ${method} ${target}`);
  return answer;
}
