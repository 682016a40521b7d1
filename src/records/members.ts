import type { Role } from '../config/console-roles.ts';

/** A person who was added to the console. */
export interface Member {
  readonly id: string;
  /** Their name or e-mail address; what the audit log calls them. */
  readonly name: string;
  readonly role: Role;
  /** Who added them. */
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/** What became of a change of a member. */
export type MemberChange = 'done' | 'unknown' | 'last-admin';

/** The people who were added to the console of a gateway; those of its settings are not among them. */
export interface MemberRepository {
  /** Oldest first. */
  list(tenantId: string): Promise<readonly Member[]>;
  get(tenantId: string, id: string): Promise<Member | undefined>;
  /** @returns false where another has this name, whatever its case */
  add(tenantId: string, member: Member): Promise<boolean>;
  /**
   * Gives a member another role, or removes them.
   * @param role undefined removes
   * @param mayEndAdmins whether the last admin among the members may lose the role
   */
  change(tenantId: string, id: string, role: Role | undefined, mayEndAdmins: boolean): Promise<MemberChange>;
}
