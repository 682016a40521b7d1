import { z } from 'zod';
import { meant } from './nearest.ts';
import { complaint, type Problem, shown } from './problem.ts';

/** A document that was read, and what its schema says of it. */
export interface RefusedDocument {
  readonly schema: z.ZodType;
  readonly issues: readonly z.core.$ZodIssue[];
  readonly written: unknown;
  readonly whereOf: (keys: readonly PropertyKey[]) => string;
  /** In messages: `a bot file`. */
  readonly what: string;
  /** The key of a complaint about the whole document. */
  readonly root: string;
}

/** A schema's complaints for the file's author: each with its line, and the nearest allowed name. */
export function schemaProblems({ schema, issues, written, whereOf, what, root }: RefusedDocument): Problem[] {
  return issues.flatMap((issue) => {
    const ofBranch = branchIssues(issue);
    if (ofBranch !== undefined) return schemaProblems({ schema, issues: ofBranch, written, whereOf, what, root });
    const key = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys') {
      const known = Object.keys(groupAt(schema, issue.path, written)?.properties ?? {});
      return issue.keys.map((unknown) => ({
        key: key === '' ? unknown : `${key}.${unknown}`,
        where: whereOf([...issue.path, unknown]),
        message: `no such key in ${what}`,
        ...meant(unknown, known),
      }));
    }
    const value = issue.path.reduce<unknown>((node, name) => (isRecord(node) ? node[String(name)] : undefined), written);
    const place = { key: key === '' ? root : key, where: whereOf(issue.path) };
    const allowed = allowedAt(schema, issue, written);
    if (typeof value !== 'string' || allowed.length === 0) return [{ ...place, ...complaint(issue.message, value) }];
    return [{ ...place, value: shown(value), message: `allowed is ${allowed.join(', ')}`, ...meant(value, allowed) }];
  });
}

/** The complaints of a union's first branch that takes this kind of value; the other branches do not apply. */
function branchIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] | undefined {
  if (issue.code !== 'invalid_union' || issue.discriminator !== undefined) return undefined;
  const isOfKind = (each: readonly z.core.$ZodIssue[]): boolean =>
    !each.some(({ code, path }) => code === 'invalid_type' && path.length === 0);
  return issue.errors.find(isOfKind)?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** The words of an enumeration, or the kinds of a union, that would be valid. */
function allowedAt(schema: z.ZodType, issue: z.core.$ZodIssue, written: unknown): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code !== 'invalid_union' || issue.discriminator === undefined) return [];
  const { discriminator } = issue;
  const group = groupAt(schema, issue.path.slice(0, -1), written, false);
  return branchesOf(group).flatMap(({ properties }) => properties?.[discriminator]?.const ?? []);
}

/** As much of a JSON Schema as leads to the keys that are known at a place. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly const?: string;
}

const schemaNode: z.ZodType<SchemaNode> = z.lazy(() =>
  z.looseObject({
    properties: z.record(z.string(), schemaNode).optional(),
    additionalProperties: z.union([schemaNode, z.boolean()]).optional(),
    items: schemaNode.optional().catch(undefined),
    oneOf: z.array(schemaNode).optional(),
    anyOf: z.array(schemaNode).optional(),
    const: z.string().optional().catch(undefined),
  }),
) as z.ZodType<SchemaNode>;

function branchesOf(node: SchemaNode | undefined): readonly SchemaNode[] {
  return node?.oneOf ?? node?.anyOf ?? [];
}

/** @param chosen whether a union at the place itself is replaced by the branch that was written */
function groupAt(schema: z.ZodType, path: readonly PropertyKey[], written: unknown, chosen = true): SchemaNode | undefined {
  let node: SchemaNode | undefined = schemaNode.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  let value = written;
  for (const name of path) {
    node = chosenBranch(node, value);
    const other: SchemaNode['additionalProperties'] = node?.additionalProperties;
    node = node?.properties?.[String(name)] ?? node?.items ?? (typeof other === 'object' ? other : undefined);
    value = isRecord(value) ? value[String(name)] : undefined;
  }
  return chosen ? chosenBranch(node, value) : node;
}

/** The branch of a union whose fixed words, such as its kind, match. */
function chosenBranch(node: SchemaNode | undefined, value: unknown): SchemaNode | undefined {
  const fits = ({ properties = {} }: SchemaNode): boolean =>
    Object.entries(properties).every(([key, { const: word }]) => word === undefined || (isRecord(value) && value[key] === word));
  const branches = branchesOf(node);
  return branches.length === 0 ? node : branches.find(fits);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
