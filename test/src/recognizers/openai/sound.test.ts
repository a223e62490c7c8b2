import { isNear } from '../../../../src/recognizers/openai/sound.ts';

test.each([
  ...['http://127.0.0.1:8000/v1', 'http://[::1]/v1', 'http://localhost:8000/v1', 'http://10.1.2.3/v1'],
  ...['http://172.31.0.1/v1', 'http://192.168.1.2/v1', 'http://[fd00::1]/v1', 'http://gpu:8000/v1'],
  ...['http://gpu.ns.svc.cluster.local/v1', 'https://gpu.internal/v1'],
])('%s → near', (url) => {
  expect(isNear(url)).toBe(true);
});

test.each(['https://api.openai.com/v1', 'http://172.32.0.1/v1', 'https://8.8.8.8/v1', 'http://[2001:db8::1]/v1'])(
  '%s → far away',
  (url) => {
    expect(isNear(url)).toBe(false);
  },
);
