import { appendFile, mkdir, mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Manifest, MANIFEST, OutputFolder } from '../../../../src/cli/analyse/output-folder.ts';

const entry = (n: number, more: object = {}) => ({
  sha256: `hash-${n}`,
  profile: 'sales-1',
  place: `/in/rec-${n}.wav`,
  version: `v${n}`,
  result: `rec-${n}.json`,
  ...more,
});

async function inFolder(task: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-manifest-'));
  try {
    await task(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('Manifest', () => {
  it('is refused when unreadable, since everything would be done again', () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, MANIFEST));
      await expect(Manifest.open(folder)).rejects.toMatchObject({ code: 'EISDIR', syscall: 'read' });
    }));

  it('finds finished recordings by content, and by place and version, for one profile', () =>
    inFolder(async (folder) => {
      {
        await using manifest = await Manifest.open(folder);
        await manifest.add(entry(1));
      }
      await using again = await Manifest.open(folder);
      expect(again.byContent('hash-1', 'sales-1')?.result).toBe('rec-1.json');
      expect(again.byContent('hash-1', 'sales-2')).toBeUndefined();
      expect(again.byPlace('/in/rec-1.wav', 'v1', 'sales-1')?.result).toBe('rec-1.json');
      expect(again.byPlace('/in/rec-1.wav', 'v2', 'sales-1')).toBeUndefined();
      expect(again.entries('sales-1')).toHaveLength(1);
    }));

  it('survives truncation anywhere: whole lines count, and later ones are kept', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(400), async (cut) =>
        inFolder(async (folder) => {
          const path = join(folder, MANIFEST);
          {
            await using manifest = await Manifest.open(folder);
            for (const n of [1, 2, 3]) await manifest.add(entry(n));
          }
          const text = await readFile(path, 'utf8');
          const kept = Math.min(cut, text.length);
          await truncate(path, kept);
          // A line that lacks nothing but its end is whole.
          const whole = text
            .slice(0, kept)
            .split('\n')
            .filter((line) => line.endsWith('}')).length;
          {
            await using after = await Manifest.open(folder);
            expect(after.entries('sales-1')).toHaveLength(whole);
            await after.add(entry(9));
          }
          await using last = await Manifest.open(folder);
          expect(last.byContent('hash-9', 'sales-1')).toBeDefined();
          expect(last.entries('sales-1')).toHaveLength(whole + 1);
        }),
      ),
      { numRuns: 30 },
    );
  });

  it('ignores foreign lines', () =>
    inFolder(async (folder) => {
      await appendFile(join(folder, MANIFEST), '\0\0\0\n{"sha256":1}\nnull\n');
      await using manifest = await Manifest.open(folder);
      expect(manifest.entries('sales-1')).toEqual([]);
    }));
});

describe('OutputFolder', () => {
  it('is locked by one run, and taken over from a dead one with its leftovers removed', () =>
    inFolder(async (folder) => {
      const out = join(folder, 'out');
      {
        await using held = await OutputFolder.open(out);
        await appendFile(join(held.workFolder, 'copy.wav'), 'x');
      }
      // No process has this number on any system that these tests run on.
      await appendFile(join(out, '.lock'), '4194999');
      await using taken = await OutputFolder.open(out);
      expect(await readFile(join(out, '.lock'), 'utf8')).toBe(String(process.pid));
      await rm(join(taken.path, '.lock'));
      await appendFile(join(out, '.lock'), '1');
      await expect(OutputFolder.open(out)).rejects.toThrow('process 1 is writing');
    }));
});
