/** Ordinary HTTP clients, to see what a refusal looks like from their side. */
import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Seen {
  status: number;
  contentType: string;
  text: string;
}

/** Posts the bytes of a file. */
type Client = (url: string, headers: Record<string, string>, path: string) => Promise<Seen>;

const nodeFetch: Client = async (url, headers, path) => {
  const response = await fetch(url, { method: 'POST', headers, body: await readFile(path) });
  return { status: response.status, contentType: response.headers.get('content-type')!, text: await response.text() };
};

const curlWith =
  (...options: string[]): Client =>
  async (url, headers, path) => {
    const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const format = '\n%{http_code} %{content_type}';
    const args = ['-sS', '--max-time', '20', ...options, ...fields, '--data-binary', `@${path}`, '-w', format, url];
    const { stdout } = await execute('curl', args);
    const [, text, status, contentType] = /^([^]*)\n(\d+) (.*)$/.exec(stdout)!;
    return { status: Number(status), contentType: contentType!, text: text! };
  };

const python =
  (script: string): Client =>
  async (url, headers, path) => {
    const { stdout } = await execute('python3', ['-c', script, url, JSON.stringify(headers), path]);
    const [status, contentType, text] = JSON.parse(stdout) as [number, string, string];
    return { status, contentType, text };
  };

/** What urllib3 (and so `requests`) does as well: an answer may be there although the rest could not be sent. */
const pythonHttpClient = python(`
import http.client, json, sys
from urllib.parse import urlsplit
url, headers, path = urlsplit(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
try:
    connection.request('POST', url.path, open(path, 'rb').read(), headers)
except BrokenPipeError:
    pass
answer = connection.getresponse()
print(json.dumps([answer.status, answer.getheader('content-type'), answer.read().decode()]))
`);

/** Does not look at the connection until everything is sent: for bodies that the server drops whole. */
export const urllib = python(`
import json, sys, urllib.request, urllib.error
url, headers, path = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, open(path, 'rb').read(), headers), timeout=20)
except urllib.error.HTTPError as error:
    answer = error
print(json.dumps([answer.status, answer.headers['content-type'], answer.read().decode()]))
`);

export const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Those that this machine has. */
export const clients: [name: string, client: Client][] = [
  ['fetch', nodeFetch],
  ['curl', curlWith()],
  ['curl without Expect', curlWith('-H', 'Expect:')],
  ...(hasPython ? [['http.client', pythonHttpClient] satisfies [string, Client]] : []),
];
