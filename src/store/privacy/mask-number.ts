/** A number as who may not see it sees it: its last two digits, and how many stood before them. Not meant to be turned back. */
export function maskNumber(number: string): string {
  const user = /^(sips?:)?([^@;]*)/iu.exec(number)?.[2] ?? number;
  return user.length <= 4 ? '*'.repeat(user.length) : '*'.repeat(user.length - 2) + user.slice(-2);
}
