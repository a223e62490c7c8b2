/** A proxy that serves a service below a path of its own. */
import { giveBack, sendOn, serve } from '../serve.ts';

export interface PathProxy {
  /** For PUBLIC_URL. */
  url: string;
  /** Where the service is. */
  target: string;
  /** Longer bodies get a page of HTML, as nginx answers them. */
  mostBytes: number;
}

export async function startPathProxy(path = '/speech'): Promise<PathProxy> {
  const { url } = await serve(async (req, res) => {
    if (!req.url!.startsWith(`${path}/`)) return res.writeHead(404).end('another service');
    if (Number(req.headers['content-length'] ?? 0) > proxy.mostBytes)
      return res.writeHead(413, { 'Content-Type': 'text/html' }).end('<h1>413 Request Entity Too Large</h1>');
    const answer = await sendOn(req, `${proxy.target}${req.url!.slice(path.length)}`).catch(() => undefined);
    return answer === undefined ? res.destroy() : giveBack(answer, res);
  });
  const proxy: PathProxy = { url: `${url}${path}`, target: '', mostBytes: Infinity };
  return proxy;
}
