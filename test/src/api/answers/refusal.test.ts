/** A request that is refused while its body is still on its way. */
import { connect } from 'node:net';
import { jest } from '../../../support/run/jest.ts';
import { parseAnswers } from '../../../support/clients/raw-http.ts';
import { holdTheClock } from '../../../support/faults/held-clock.ts';
import { useService } from '../../../support/service/use-service.ts';
import { until } from '../../../support/until.ts';

const service = await useService();
const chunk = Buffer.alloc(256 * 1024);
/** Far more than is dropped, and than the system holds for both ends of a connection. */
const length = 64 * 1024 ** 2;

test('a client that looks for an answer only when it can send no more, as proxies do → 401, and soon an end', async () => {
  holdTheClock('timeouts');
  const socket = connect(service.api.port, '127.0.0.1').pause();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let failure: unknown;
  socket.on('error', (error) => (failure = error));
  let sent = 0;
  const send = () => void socket.write(chunk, (error) => error ?? ((sent += chunk.length), send()));
  socket.write(`POST /v1/transcriptions HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
  send();
  let [last, looks] = [0, 0];
  await until(() => {
    looks = sent === last ? looks + 1 : 0;
    last = sent;
    return failure !== undefined || looks === 50;
  });
  expect(failure).toBeUndefined();
  expect(sent).toBeLessThan(length);

  const chunks: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => chunks.push(bytes)).resume();
  await until(() => chunks.length > 0);
  const [answer] = parseAnswers(Buffer.concat(chunks).toString('latin1'));
  expect(answer).toMatchObject({ status: 401, headers: { connection: 'close' } });
  jest.advanceTimersByTime(2_000);
  await closed;
});
