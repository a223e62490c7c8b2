import { fetch } from 'undici';
import { throughProxies } from '../../../src/recognizers/proxies.ts';
import { serve } from '../../support/serve.ts';

test('a proxy that never answers → given up after the limit', async () => {
  const { url: http } = await serve(() => {});
  const dispatcher = throughProxies({ http, https: '', none: '' }, { headersTimeout: 500, bodyTimeout: 500 });
  const asked = fetch('http://elsewhere.invalid/', { dispatcher });
  await expect(asked).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  await dispatcher.destroy();
});
