/** The caller id of campaigns in tests with processes. */
export const CALLER_ID = '+442079460001';
