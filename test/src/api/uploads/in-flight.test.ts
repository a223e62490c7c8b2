import { UploadsInFlight } from '../../../../src/api/uploads/upload.ts';

test('an upload that is still being cleaned up after → waited for, also when it fails', async () => {
  const uploads = new UploadsInFlight();
  const cleaning = Promise.withResolvers<void>();
  const order: string[] = [];
  const upload = uploads.run('account', async () => {
    await cleaning.promise;
    order.push('cleaned');
    throw new Error('cut off');
  });
  const ended = uploads.ended().then(() => void order.push('ended'));
  await new Promise(setImmediate);
  cleaning.resolve();
  await expect(upload).rejects.toThrow('cut off');
  await ended;
  expect(order).toEqual(['cleaned', 'ended']);
});

test('none in flight → ended at once', async () => {
  const uploads = new UploadsInFlight();
  expect(await uploads.run('account', async () => 'received')).toBe('received');
  await uploads.ended();
});
