import { describe, expect, it } from 'vitest';
import { bar, Progress } from '../../../../src/cli/shell/progress.ts';

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { written, stream: { isTTY, write: (text: unknown) => written.push(String(text)) > 0 } };
}

describe('progress', () => {
  it('draws a share of 0 to 1, and nothing while it is unknown', () => {
    expect(bar(0.25)).toBe('[######..................]  25 % ');
    expect(bar(7)).toContain('100 %');
    expect(bar(undefined)).toBe('');
  });

  it('writes only to a terminal, and clears its line', () => {
    const [terminal, file] = [screen(true), screen(false)];
    for (const { stream } of [terminal, file]) {
      using progress = new Progress('speaking', stream);
      progress.update('12 KB');
    }
    expect(terminal.written[0]).toContain('speaking');
    expect(terminal.written.at(-1)).toBe('\r\u001B[2K');
    expect(file.written).toEqual([]);
  });
});
