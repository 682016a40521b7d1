import { z } from 'zod';
import { ROLES, type Role } from '../../../config/console-roles.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Member, MemberChange } from '../../../records/members.ts';
import { SCOPES_OF } from '../../session/session-views.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, noting } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { isoTime } from '../views.ts';
import type { MemberOrders } from './settings-orders.ts';
import { invitationView, type MembersView, membersView, memberView, newMemberView } from './settings-views.ts';
import { refuseTenant } from './setting-routes.ts';

/** Sign-ins that are looked through, and people that are shown. */
const MOST_SIGN_INS = 200;
const MOST_SEEN = 50;
const MOST_MEMBERS = 500;

const ofMember = z.strictObject({ id: z.string().min(1).max(100) });
const role = z.enum(ROLES);

/** People of the console: those of the settings, and those who are added here. Served to the operator alone. */
export function memberRoutes(app: ApiApp, { settings, audit, clock }: ApiDeps): void {
  const orders = settings?.members;
  if (orders === undefined) return;
  const noted = noting(audit);
  const found = async (principal: Principal, id: string): Promise<Member> => {
    refuseTenant(principal);
    const member = await orders.members.get(principal.tenantId, id);
    if (member === undefined) throw unknown();
    refuseBeyond(principal, member.role);
    return member;
  };
  const changed = async (principal: Principal, member: Member, next: Role | undefined): Promise<void> => {
    if (principal.id === `console ${member.name}`)
      throw new RequestRefused(409, 'Nobody changes their own membership: another admin does.');
    refuse(await orders.members.change(principal.tenantId, member.id, next, orders.hasOtherAdmin), member);
    // They were opened with the role of before.
    await orders.endSessions(member.name);
  };
  app.get(
    '/members',
    about('settings:read', 'How people get into the console, who they are, what each role may do, and who came lately', {
      response: { 200: membersView },
    }),
    async ({ principal }) => {
      refuseTenant(principal);
      const { ways, openid } = orders;
      return {
        ways: [...ways],
        openid:
          openid === undefined
            ? null
            : { ...openid, roles: [...openid.roles].map(([value, mapped]) => ({ value, role: mapped })) },
        roles: ROLES.map((each) => ({ role: each, scopes: [...SCOPES_OF[each]] })),
        members: [...ofSettings(orders), ...(await orders.members.list(principal.tenantId)).map(viewOf)],
        seen: principal.scopes.includes('audit:read') ? await seenIn(audit, principal.tenantId) : [],
      };
    },
  );
  app.post(
    '/members',
    {
      // The link is not stored for a repeat.
      config: { scope: 'settings:write', stored: (answer) => ({ ...newMemberView.parse(answer), path: null }) },
      schema: {
        summary: 'Add a person by name or e-mail address, and make a link that signs them in, once',
        body: z.strictObject({ name: z.string().trim().min(1).max(100), role }),
        response: { 201: newMemberView },
      },
    },
    async ({ principal, body }) => {
      refuseTenant(principal);
      refuseBeyond(principal, body.role);
      const { tenantId, id: createdBy } = principal;
      const member: Member = { id: newId('mem'), ...body, createdBy, createdAtMs: clock.wallMs() };
      const taken = ofSettings(orders).some(({ name }) => name.toLowerCase() === body.name.toLowerCase());
      if ((await orders.members.list(tenantId)).length >= MOST_MEMBERS)
        throw new RequestRefused(409, `There are ${MOST_MEMBERS} members: remove some first.`);
      if (taken || !(await orders.members.add(tenantId, member)))
        throw new RequestRefused(409, `Another member is called ${body.name}.`);
      await noted(principal, 'member.add', `${member.name} as ${member.role}`);
      return { member: viewOf(member), ...(await linkFor(orders, member)) };
    },
  );
  app.put(
    '/members/:id',
    about('settings:write', 'Give a member another role, which ends their sessions', {
      params: ofMember,
      body: z.strictObject({ role }),
      response: { 200: memberView },
    }),
    async ({ principal, params: { id }, body }) => {
      const member = await found(principal, id);
      refuseBeyond(principal, body.role);
      if (member.role !== body.role) await changed(principal, member, body.role);
      await noted(principal, 'member.change', `${member.name} as ${body.role}`);
      return viewOf({ ...member, role: body.role });
    },
  );
  app.delete(
    '/members/:id',
    about('settings:write', 'Remove a member: their sessions end, and their links sign nobody in', {
      params: ofMember,
      response: { 200: z.object({ removed: z.boolean() }) },
    }),
    async ({ principal, params: { id } }) => {
      const member = await found(principal, id);
      await changed(principal, member, undefined);
      await noted(principal, 'member.remove', member.name);
      return { removed: true };
    },
  );
  app.post(
    '/members/:id/links',
    {
      config: { scope: 'settings:write', stored: (answer) => ({ ...invitationView.parse(answer), path: null }) },
      schema: {
        summary: 'Make another link that signs a member in, once',
        params: ofMember,
        body: z.strictObject({}).nullish(),
        response: { 201: invitationView },
      },
    },
    async ({ principal, params: { id } }) => {
      const member = await found(principal, id);
      await noted(principal, 'member.link', member.name);
      return linkFor(orders, member);
    },
  );
}

async function linkFor(
  { invite }: MemberOrders,
  { id: member, name, role: given }: Member,
): Promise<z.output<typeof invitationView>> {
  const { code, untilMs } = await invite({ name, role: given, member });
  return { path: `/console#code=${code}`, expiresAt: isoTime(untilMs) };
}

/** Members by the settings, which are changed there alone. */
function ofSettings({ ways, openid }: MemberOrders): MembersView['members'] {
  const fixed = { id: null, createdBy: null, createdAt: null };
  return [
    ...(ways.includes('password')
      ? [{ ...fixed, name: 'admin', role: 'admin' as const, setting: 'OFFHOOK_ADMIN_PASSWORD' }]
      : []),
    ...[...(openid?.roles ?? [])].map(([name, mapped]) => ({ ...fixed, name, role: mapped, setting: 'console.openid.roles' })),
  ];
}

function viewOf({ createdAtMs, ...member }: Member): MembersView['members'][number] {
  return { ...member, setting: null, createdAt: isoTime(createdAtMs) };
}

function unknown(): RequestRefused {
  return new RequestRefused(404, 'There is no such member.');
}

function refuse(change: MemberChange, { name }: Member): void {
  if (change === 'unknown') throw unknown();
  if (change === 'last-admin') throw new RequestRefused(409, `${name} is the last admin: make another member an admin first.`);
}

/** @throws RequestRefused 403 where the role may do more than the asking user */
function refuseBeyond({ scopes }: Principal, given: Role): void {
  if (SCOPES_OF[given].some((scope) => !scopes.includes(scope)))
    throw new RequestRefused(403, `The role ${given} may do more than you.`);
}

/** People of the console who signed in lately. */
async function seenIn(audit: ApiDeps['audit'], tenantId: string): Promise<MembersView['seen']> {
  const page = await audit?.page(
    (line) => line.tenantId === tenantId && line.action === 'session.sign-in' && line.outcome === 'done',
    { limit: MOST_SIGN_INS },
  );
  const seen = new Map<string, MembersView['seen'][number]>();
  for (const { by, subject: way, at } of page?.lines ?? []) {
    const name = by.replace(/^console /u, '');
    if (!seen.has(name)) seen.set(name, { name, way, at });
  }
  return [...seen.values()].slice(0, MOST_SEEN);
}
