import { EnvHttpProxyAgent } from 'undici';
import { ConfigError } from './config.ts';
import type { Dispatcher } from 'undici';

/** Undici itself would ask a proxy for these addresses. */
const thisMachine = 'localhost,127.0.0.1,[::1]';

/**
 * Sends requests by the proxies that `HTTPS_PROXY` and `HTTP_PROXY` of `env` name, in capitals or not. Requests to this
 * machine and to the hosts of `NO_PROXY` go without a proxy.
 * @param limits longest silence in ms; 0 for no limit
 * @throws {ConfigError} the address of a proxy is no address
 */
export function throughProxies(
  env: NodeJS.ProcessEnv,
  limits: { headersTimeout: number; bodyTimeout: number },
): Dispatcher {
  const read = (name: string) => env[name] ?? env[name.toUpperCase()] ?? '';
  const named = read('no_proxy').trim();
  const noProxy = named === '*' ? named : `${named},${thisMachine}`;
  // The limits are given with each request: undici ignores those of an agent for a proxy without a tunnel.
  const limited: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch({ ...options, ...limits }, handler);
  try {
    // Only https goes through a tunnel: proxies seldom allow a tunnel to other ports.
    const proxies = { httpProxy: read('http_proxy'), httpsProxy: read('https_proxy'), noProxy };
    return new EnvHttpProxyAgent({ ...proxies, proxyTunnel: false }).compose(limited);
  } catch {
    throw new ConfigError(['HTTPS_PROXY or HTTP_PROXY: expected an address such as http://proxy.example.com:3128']);
  }
}
