/** The service with `API_PROCESSES`: a master, its children, and what they show to operators. */
import { connect } from 'node:net';
import { parseAnswers } from '../clients/raw-http.ts';
import { until } from '../until.ts';
import { freePort } from './free-port.ts';
import { childrenOf, startProcess } from './processes.ts';
import type { Socket } from 'node:net';
import type { RawAnswer } from '../clients/raw-http.ts';
import type { ServiceProcess } from './processes.ts';

export interface SeveralProcesses extends ServiceProcess {
  port: number;
  /** The master's living children of a half. */
  children(half: 'api' | 'worker'): number[];
  ops(path: string): Promise<{ status: number; text: string }>;
  /** The value of a metric, with its labels; undefined when it is not shown. */
  metric(name: string): Promise<number | undefined>;
}

/** Starts two processes of the API, and with `start` a worker. Resolves when all are ready. */
export async function startSeveral(
  script: 'start' | 'start-api',
  env: Record<string, string>,
): Promise<SeveralProcesses> {
  const opsPort = await freePort();
  const several = { API_PROCESSES: '2', OPS_PORT: String(opsPort), ...env };
  const service = await startProcess(script, several, 'all processes are ready');
  const answers = service.lines.find((line) => line.includes('"api answers"'))!;
  const { port } = JSON.parse(answers) as { port: number };
  const ops = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${opsPort}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  return {
    ...service,
    ...{ port, url: `http://127.0.0.1:${port}`, ops },
    children: (half) => childrenOf(service.pid, `start-child.ts ${half}`),
    async metric(name) {
      const line = (await ops('/metrics')).text.split('\n').find((text) => text.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(name.length + 1));
    },
  };
}

/** A client that keeps its connection, and so its process. */
export class KeptConnection {
  readonly socket: Socket;
  readonly #head: string;
  #received = '';
  isClosed = false;

  constructor(port: number, key?: string) {
    this.#head = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
    this.socket = connect(port, '127.0.0.1');
    this.socket.setEncoding('utf8').on('data', (chunk) => (this.#received += String(chunk)));
    this.socket.on('error', () => undefined).once('close', () => (this.isClosed = true));
  }

  /** The answer; undefined when the connection ended without one. */
  async get(path: string): Promise<RawAnswer | undefined> {
    this.#received = '';
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${this.#head}\r\n`);
    const whole = () => /\r\n\r\n[^]*\}\s*$/.test(this.#received);
    await until(() => whole() || this.isClosed);
    return whole() ? parseAnswers(this.#received)[0] : undefined;
  }
}

/** Which process answered, by its log. */
export function processOf(service: ServiceProcess, { headers }: RawAnswer): Promise<number> {
  const line = () => service.lines.find((text) => text.includes(headers['x-request-id']!) && text.includes('"status"'));
  return until(line).then((text) => (JSON.parse(text!) as { pid: number }).pid);
}
