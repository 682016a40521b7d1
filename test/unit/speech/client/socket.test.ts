import { expect, test } from 'vitest';
import { closeError } from '../../../../src/speech/client/socket.ts';

test.each([1001, 1005, 1006, 1011, 1012, 1013, 1015])('a session may be opened anew after %i', (code) => {
  expect(closeError(code, 'it closed').retryable).toBe(true);
});

test.each([1000, 1002, 1003, 1007, 1008, 1009, 1010, 4001, 4002])('no session is opened anew after %i', (code) => {
  expect(closeError(code, 'it closed').retryable).toBe(false);
});
