import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SharedOutbox } from '../../../src/cluster/shared-outbox.ts';
import { Outbox } from '../../../src/jobs/outbox.ts';

it('goes on appending where another process takes out what it appended, and is full when that one does not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-outbox-'));
  const open = (): Promise<Outbox> => Outbox.open(folder, () => 1, { maxEntries: 2, maxBytes: 1_000_000 });
  const other = await open();
  const shared = new SharedOutbox(open);
  for (let entry = 0; entry < 6; entry += 1) {
    await shared.append('call-ended', { entry });
    for (const name of await other.names()) await other.remove(name);
  }
  await shared.append('call-ended', {});
  await shared.append('call-ended', {});
  await expect(shared.append('call-ended', {})).rejects.toMatchObject({ code: 'OFFHOOK_OUTBOX_FULL' });
  expect(readdirSync(folder).filter((name) => !name.startsWith('rejected'))).toHaveLength(2);
  rmSync(folder, { recursive: true, force: true });
});
