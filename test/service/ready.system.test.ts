/** `/readyz` tells the truth: 200 means that this process answers clients and takes jobs now. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { clientOf } from '../support/clients/client.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { steadyPort } from '../rig/ports.ts';
import { startProcess } from '../support/service/processes.ts';
import { useService } from '../support/service/use-service.ts';
import { voice } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';

const service = await useService();

test('/readyz asked from the first moment of a start → 503 until the API answers and the worker takes jobs', async () => {
  const account = await makeAccount(service.db);
  const file = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'ready-')), 'voice.wav');
  await writeFile(file, await voice(500));
  const [port, opsPort] = [await steadyPort(), await steadyPort()];
  const { env: hello } = await startHelloServer();
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir, ...hello };
  const started = startProcess('start', { ...env, PORT: String(port), OPS_PORT: String(opsPort) });

  const before = new Set<string>();
  const isReady = async () => {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`).catch(() => undefined);
    const said = answer === undefined ? 'nothing' : `${answer.status} ${await answer.text()}`;
    if (said !== '200 ready\n') before.add(said);
    return said === '200 ready\n';
  };
  await until(isReady);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  const running = await started;
  expect(running.lines.join('\n')).toContain('worker takes jobs');
  const client = clientOf(running.url, account.key);
  const { sessionId } = JSON.parse((await client.upload(file)).text) as { sessionId: string };
  expect(await client.final(sessionId)).toMatchObject({ status: 'completed' });
  for (const said of before) expect(['nothing', '503 starting\n']).toContain(said);

  expect(await running.stop()).toBe(0);
});

test('the server of RECOGNIZER=openai is away → ready all the same, said by /readyz and by the log', async () => {
  const [away, opsPort] = [await steadyPort(), await steadyPort()];
  const { lines, stop } = await startProcess('start-worker', {
    ...{ DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir, OPS_PORT: String(opsPort) },
    ...{ RECOGNIZER: 'openai', OPENAI_BASE_URL: `http://127.0.0.1:${away}/v1` },
  });
  const message = `127.0.0.1:${away} could not be reached: connect ECONNREFUSED 127.0.0.1:${away}`;
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([200, `ready, but ${message}\n`]);
  const warnings = lines
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level }) => level === 40);
  expect(warnings.map(({ msg }) => msg)).toEqual([message]);
  expect(await stop()).toBe(0);
});
