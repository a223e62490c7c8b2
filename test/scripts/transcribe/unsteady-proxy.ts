import { giveBack, sendOn, serve } from '../../support/serve.ts';

export interface UnsteadyProxy {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The method and path of every request it was sent. */
  requests: string[];
  close(): Promise<void>;
}

/** What the first request meets: its answer is lost on the way back, or it meets a service that is about to stop. */
type Trouble = 'answer lost' | 'unavailable';

export async function startUnsteadyProxy(serviceUrl: string, trouble: Trouble): Promise<UnsteadyProxy> {
  const requests: string[] = [];
  const { url, close } = await serve(async (req, res) => {
    const isFirst = requests.push(`${req.method} ${req.url}`) === 1;
    if (isFirst && trouble === 'unavailable') {
      const headers = { 'Content-Type': 'application/problem+json', 'Retry-After': '1', Connection: 'close' };
      const problem = { type: 'about:blank', title: 'Unavailable', status: 503, code: 'unavailable' };
      // After the upload: closing before it is read would make a broken connection of the answer, every now and then.
      return req.resume().on('end', () => res.writeHead(503, headers).end(JSON.stringify(problem)));
    }
    const answer = await sendOn(req, new URL(req.url!, serviceUrl)).catch(() => undefined);
    if (answer === undefined) return req.socket.destroy();
    return isFirst ? answer.resume().on('end', () => req.socket.destroy()) : giveBack(answer, res);
  });
  return { url, requests, close };
}
