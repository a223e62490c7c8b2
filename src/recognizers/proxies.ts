import { EnvHttpProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';

/** The proxies between this machine and others. */
export interface Proxies {
  /** For requests by http, an address such as `http://proxy.example.com:3128`; an empty text: none. */
  http: string;
  /** For those by https. */
  https: string;
  /** Hosts that are asked directly, with commas between them; `*`: all. */
  none: string;
}

export const noProxies: Proxies = { http: '', https: '', none: '*' };

/** Undici itself would ask a proxy for these addresses. */
const thisMachine = 'localhost,127.0.0.1,[::1]';

/**
 * Sends requests by the proxies. Those to this machine and to the hosts of `none` go without a proxy.
 * @param limits longest silence in ms; 0 for no limit
 */
export function throughProxies(
  { http, https, none }: Proxies,
  limits: { headersTimeout: number; bodyTimeout: number },
): Dispatcher {
  const noProxy = none === '*' ? none : `${none},${thisMachine}`;
  // The limits are given with each request: undici ignores those of an agent for a proxy without a tunnel.
  const limited: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch({ ...options, ...limits }, handler);
  // Only https goes through a tunnel: proxies seldom allow a tunnel to other ports.
  const proxies = { httpProxy: http, httpsProxy: https, noProxy, proxyTunnel: false };
  return new EnvHttpProxyAgent(proxies).compose(limited);
}
