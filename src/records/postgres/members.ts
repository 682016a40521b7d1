import { and, asc, eq } from 'drizzle-orm';
import type { Role } from '../../config/console-roles.ts';
import type { Member, MemberChange, MemberRepository } from '../members.ts';
import { Repository } from './repository.ts';
import { members } from './schema.ts';

export class PostgresMembers extends Repository implements MemberRepository {
  async list(tenantId: string): Promise<readonly Member[]> {
    const rows = await this.ask(tenantId, (session) =>
      session.select().from(members).where(eq(members.tenantId, tenantId)).orderBy(asc(members.createdAtMs), asc(members.id)),
    );
    return rows.map(memberIn);
  }

  async get(tenantId: string, id: string): Promise<Member | undefined> {
    const [row] = await this.ask(tenantId, (session) => session.select().from(members).where(isMember(tenantId, id)));
    return row && memberIn(row);
  }

  async add(tenantId: string, member: Member): Promise<boolean> {
    const row = { ...member, tenantId, createdAtMs: Math.round(member.createdAtMs) };
    const added = await this.ask(tenantId, (session) =>
      session.insert(members).values(row).onConflictDoNothing().returning({ id: members.id }),
    );
    return added.length > 0;
  }

  change(tenantId: string, id: string, role: Role | undefined, mayEndAdmins: boolean): Promise<MemberChange> {
    return this.atOnce(tenantId, async (tx) => {
      // Locked in one order: of two admins who remove each other, the second one waits, and is then the last.
      const admins = await tx
        .select({ id: members.id })
        .from(members)
        .where(and(eq(members.tenantId, tenantId), eq(members.role, 'admin')))
        .orderBy(asc(members.id))
        .for('update');
      const isLast = admins.length === 1 && admins[0]?.id === id;
      if (isLast && role !== 'admin' && !mayEndAdmins) return 'last-admin';
      const changed =
        role === undefined
          ? await tx.delete(members).where(isMember(tenantId, id)).returning({ id: members.id })
          : await tx.update(members).set({ role }).where(isMember(tenantId, id)).returning({ id: members.id });
      return changed.length > 0 ? 'done' : 'unknown';
    });
  }
}

function isMember(tenantId: string, id: string) {
  return and(eq(members.tenantId, tenantId), eq(members.id, id));
}

function memberIn({ tenantId: _tenantId, ...member }: typeof members.$inferSelect): Member {
  return member;
}
