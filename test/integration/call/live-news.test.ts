import { mkdtempSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { followCall, LiveNews } from '../../../src/call/log/live-news.ts';
import type { CallNews } from '../../../src/call/log/call-news.ts';
import { eventually } from '../../support/eventually.ts';

const folderOf = (): string => join(mkdtempSync(join(tmpdir(), 'offhook-news-')), 'run');
const started = (callId: string, carrierCallId: string): CallNews => ({
  type: 'started',
  callId,
  carrierCallId,
  botName: 'desk',
});
const saying = (callId: string, text: string): CallNews => ({ type: 'saying', callId, turn: 0, text });

it('tells what happens in the call that is followed, and nothing of any other', async () => {
  const folder = folderOf();
  await using news = new LiveNews();
  await news.listen(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  const seen: CallNews[] = [];
  const { followed, close } = await followCall(folder, 'CA1', (each) => seen.push(each));
  expect(followed).toBe(true);
  const told: CallNews[] = [
    started('call_1', 'CA1'),
    saying('call_1', 'Hello.'),
    { type: 'reply', callId: 'call_1', turn: 0, totalMs: undefined },
    { type: 'ended', callId: 'call_1', reason: 'done' },
  ];
  news.tell(started('call_2', 'CA2'));
  for (const each of told) {
    news.tell(saying('call_2', 'A secret.'));
    news.tell(each);
  }
  await eventually('the end of the call', () => seen.length >= told.length);
  expect(seen).toEqual(told);
  close();
});

it('follows nothing where no gateway runs, or one has died', async () => {
  const folder = folderOf();
  expect((await followCall(folder, 'CA1', () => undefined)).followed).toBe(false);
  await using news = new LiveNews();
  await news.listen(folder);
  writeFileSync(join(folder, 'calls.4194305'), '');
  const { followed, close } = await followCall(folder, 'CA1', () => undefined);
  expect(followed).toBe(true);
  close();
});
