/** Answers after 150 ms with a sentence that no cache has. */
export async function* respond({ input }: { readonly input: { readonly text?: string } }): AsyncGenerator<object> {
  await new Promise((resolve) => {
    setTimeout(resolve, 150);
  });
  yield { type: 'say', text: `Noted: ${(input.text ?? 'hello').split(' ').slice(0, 3).join(' ')}.` };
}
