/** Uploads in parts that a killed process left in an object store. */
import { S3AudioStore } from '../../../../src/files/s3/s3-audio-store.ts';
import { atEnd } from '../../../support/at-end.ts';
import { serve } from '../../../support/serve.ts';

const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const before = { ...process.env };
atEnd(async () => {
  for (const name of Object.keys(credentials)) delete process.env[name];
  Object.assign(process.env, before);
});

const upload = (id: string, initiated: string) =>
  `<Upload><Key>audio/${id}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`;
const listed = `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>
  ${upload('kept', '2020-01-01T00:00:00Z')}${upload('old', '2020-01-01T00:00:00Z')}${upload('young', '2999-01-01T00:00:00Z')}
</ListMultipartUploadsResult>`;

test('one that the store refuses to abort → the others are aborted, and the failure is told', async () => {
  const aborted: string[] = [];
  const { url: endpoint } = await serve((request, response) => {
    if (request.method === 'GET') return response.setHeader('Content-Type', 'application/xml').end(listed);
    const id = new URL(request.url!, 'http://store').searchParams.get('uploadId')!;
    aborted.push(id);
    response.statusCode = id === 'kept' ? 403 : 204;
    return response.end();
  });
  Object.assign(process.env, credentials);
  const store = new S3AudioStore({ bucket: 'bucket', prefix: 'audio/', endpoint, region: 'us-east-1' });
  await expect(store.endAbandonedPuts()).rejects.toThrow('some abandoned uploads were not aborted');
  expect(aborted).toEqual(['kept', 'old']);
});
