import { expect, it } from 'vitest';
import { lowMemoryEnvironment } from '../../../src/kernel/process-tuning.ts';

it('tells the C library to hold little memory, and leaves what somebody has told it', () => {
  expect(lowMemoryEnvironment({ PATH: '/bin' })).toEqual({
    PATH: '/bin',
    MALLOC_ARENA_MAX: '1',
    MALLOC_TRIM_THRESHOLD_: '1048576',
  });
  expect(lowMemoryEnvironment({ MALLOC_ARENA_MAX: '4' })).toEqual({ MALLOC_ARENA_MAX: '4', MALLOC_TRIM_THRESHOLD_: '1048576' });
});
