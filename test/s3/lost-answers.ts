/** A way to an object store on which the first answer that says "stored" gets lost. */
import { giveBack, sendOn, serve } from '../support/serve.ts';

export async function answersGetLost(url: string): Promise<{ url: string; lost(): number }> {
  let lost = 0;
  const way = await serve(async (req, res) => {
    const { method, url: path } = req;
    const isWhole = method === 'PUT' ? !path!.includes('partNumber=') : path!.includes('?uploadId=');
    const answer = await sendOn(req, new URL(path!, url));
    if (!isWhole || method === 'DELETE' || lost > 0) return giveBack(answer, res);
    lost += 1;
    return answer.resume().once('end', () => res.destroy());
  });
  return { url: way.url, lost: () => lost };
}
