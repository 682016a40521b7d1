import { expect, it } from 'vitest';
import { sparingEnvironment } from '../../../src/kernel/allocator.ts';

it('tells the C library to hold little memory, and leaves what somebody has told it', () => {
  expect(sparingEnvironment({ PATH: '/bin' })).toEqual({
    PATH: '/bin',
    MALLOC_ARENA_MAX: '1',
    MALLOC_TRIM_THRESHOLD_: '1048576',
  });
  expect(sparingEnvironment({ MALLOC_ARENA_MAX: '4' })).toEqual({ MALLOC_ARENA_MAX: '4', MALLOC_TRIM_THRESHOLD_: '1048576' });
});
