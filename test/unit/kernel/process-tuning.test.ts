import { expect, it } from 'vitest';
import { lowMemoryEnvironment } from '../../../src/kernel/process-tuning.ts';

it('sets malloc for little memory, and keeps variables that are set already', () => {
  expect(lowMemoryEnvironment({ PATH: '/bin' })).toEqual({
    PATH: '/bin',
    MALLOC_ARENA_MAX: '1',
    MALLOC_TRIM_THRESHOLD_: '1048576',
  });
  expect(lowMemoryEnvironment({ MALLOC_ARENA_MAX: '4' })).toEqual({ MALLOC_ARENA_MAX: '4', MALLOC_TRIM_THRESHOLD_: '1048576' });
});
