import { once } from 'node:events';
import { createServer } from 'node:net';
import { fetch } from 'undici';
import { throughProxies } from '../../../src/recognizers/proxies.ts';
import type { AddressInfo } from 'node:net';

test('a proxy that never answers → given up after the limit', async () => {
  const proxy = createServer((socket) => socket.resume());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const http = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const dispatcher = throughProxies({ http, https: '', none: '' }, { headersTimeout: 500, bodyTimeout: 500 });
  try {
    const asked = fetch('http://elsewhere.invalid/', { dispatcher });
    await expect(asked).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  } finally {
    await dispatcher.destroy();
    proxy.close();
  }
});
