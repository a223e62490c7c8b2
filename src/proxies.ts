import { EnvHttpProxyAgent } from 'undici';
import { ConfigError } from './config.ts';
import type { Dispatcher } from 'undici';

/** Which undici itself would ask a proxy for. */
const thisMachine = 'localhost,127.0.0.1,[::1]';

/**
 * The way out: by the proxies that `HTTPS_PROXY` and `HTTP_PROXY` name, in either case, but straight to this machine and to
 * what `NO_PROXY` names.
 * @param limits of silence, in ms; 0 for none
 * @throws {ConfigError} a proxy has no address
 */
export function throughProxies(limits: { headersTimeout: number; bodyTimeout: number }): Dispatcher {
  const named = (process.env['no_proxy'] ?? process.env['NO_PROXY'] ?? '').trim();
  const noProxy = named === '*' ? named : `${named},${thisMachine}`;
  // With each request: undici leaves an agent's own limits out on the way to a proxy without a tunnel.
  const limited: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch({ ...options, ...limits }, handler);
  try {
    // A tunnel for https only: proxies seldom allow one to other ports.
    return new EnvHttpProxyAgent({ noProxy, proxyTunnel: false }).compose(limited);
  } catch {
    throw new ConfigError(['HTTPS_PROXY or HTTP_PROXY: expected an address such as http://proxy.example.com:3128']);
  }
}
