import { describe, expect, it } from 'vitest';
import { OffhookError } from '../../../src/kernel/errors.ts';
import { createLogger, type LoggerOptions } from '../../../src/observability/logger.ts';

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', ...options, stream: { write: (line) => void lines.push(line) } });
  return { logger, lines, last: () => JSON.parse(lines.at(-1)!) as Record<string, unknown> };
}

class TestError extends OffhookError {
  readonly code = 'OFFHOOK_TEST';
  readonly retryable = true;
}

describe('createLogger', () => {
  it('removes personal values at every depth, and of a child', () => {
    const { logger, lines } = capture();
    logger.info(
      { pii: { from: '+1555' }, call: { pii: { to: '+1555' }, leg: { pii: { text: '+1555' }, deep: { pii: '+1555' } } } },
      'x',
    );
    logger.child({ pii: { from: '+1555' }, callId: 'c' }).warn({}, 'y');
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain('+1555');
    expect(lines[1]).toContain('"callId":"c"');
  });

  it('keeps personal values when asked to', () => {
    const { logger, lines } = capture({ personal: true });
    logger.info({ pii: { from: '+1555' } }, 'x');
    expect(lines[0]).toContain('+1555');
  });

  it('removes credentials whatever the settings', () => {
    const { logger, lines } = capture({ personal: true });
    logger.info({ token: 'sesame', request: { authorization: 'sesame', socket: { apiKey: 'sesame' } } }, 'x');
    expect(lines[0]).not.toContain('sesame');
  });

  it('leaves out what is below its level and writes level, time and message', () => {
    const { logger, lines, last } = capture({ level: 'warn' });
    logger.info({}, 'no');
    logger.debug({}, 'no');
    logger.error({ a: 1 }, 'yes');
    expect(lines).toHaveLength(1);
    expect(last()).toMatchObject({ level: 'error', message: 'yes', a: 1, time: expect.stringMatching(/^\d{4}-/) });
  });

  it.each(['hello marigold', '[1, "it is marigold, she said", marigold]', '{"a": 1 marigold', '"marigold'])(
    'quotes nothing of what was no JSON: %s',
    (words) => {
      const { logger, lines } = capture();
      try {
        JSON.parse(words);
      } catch (cause) {
        logger.error({ error: cause }, 'x');
        logger.error({ error: new TestError('bad', { cause }) }, 'x');
      }
      expect(lines).toHaveLength(2);
      expect(lines.join('')).not.toMatch(/mari|gold/u);
    },
  );

  it('writes errors with code, facts and causes', () => {
    const { logger, last } = capture();
    logger.error({ error: new TestError('bad', { cause: new Error('worse'), facts: { port: 1 } }) }, 'x');
    expect(last()['error']).toMatchObject({
      code: 'OFFHOOK_TEST',
      retryable: true,
      message: 'bad',
      facts: { port: 1 },
      cause: { message: 'worse' },
    });
  });
});
