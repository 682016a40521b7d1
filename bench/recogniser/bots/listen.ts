/** Says as little as a bot can, so that the caller goes on. */
export async function* respond(): AsyncGenerator<object> {
  yield { type: 'say', text: 'Yes.' };
}
