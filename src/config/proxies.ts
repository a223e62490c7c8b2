import type { Proxies } from '../recognizers/proxies.ts';

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` as other programs read them: in capitals or not. */
export function proxiesOf(env: NodeJS.ProcessEnv): Proxies {
  const read = (name: string) => (env[name] ?? env[name.toUpperCase()] ?? '').trim();
  return { http: read('http_proxy'), https: read('https_proxy'), none: read('no_proxy') };
}

/** @returns what is wrong with their addresses, which may hold a password and are not shown; undefined: nothing */
export const faultOf = ({ http, https }: Proxies): string | undefined =>
  [http, https].every((address) => address === '' || isProxy(URL.parse(address)))
    ? undefined
    : 'HTTPS_PROXY or HTTP_PROXY: expected an address such as http://proxy.example.com:3128';

const isProxy = (url: URL | null) => url !== null && ['http:', 'https:', 'socks5:'].includes(url.protocol);
