/** What people of the console are, from the least to the most. */
export const ROLES = ['viewer', 'listener', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Reads `offhook-admins=admin, support=operator`: the values of a claim, and the role of each. */
export function readRoleMap(text = ''): { readonly roles: ReadonlyMap<string, Role>; readonly wrong: readonly string[] } {
  const roles = new Map<string, Role>();
  const wrong: string[] = [];
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    // Names of groups have equals signs in directories.
    const at = entry.lastIndexOf('=');
    const [value, name] = [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
    const role = ROLES.find((each) => each === name);
    if (at < 1 || value === '' || role === undefined) wrong.push(entry);
    else roles.set(value, role);
  }
  return { roles, wrong };
}
