CREATE TABLE "offhook"."campaigns" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"settings" json NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"started_at_ms" bigint,
	"changed_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	"erased_at_ms" bigint,
	"announced_at_ms" bigint,
	CONSTRAINT "campaigns_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."campaigns" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."contacts" (
	"tenant_id" text NOT NULL,
	"campaign_id" text NOT NULL,
	"ordinal" bigint GENERATED ALWAYS AS IDENTITY (sequence name "offhook"."contacts_ordinal_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"state" text NOT NULL,
	"priority" smallint NOT NULL,
	"due_at_ms" bigint NOT NULL,
	"attempts" integer NOT NULL,
	"outcomes" json NOT NULL,
	"disposition" text,
	"cause" text,
	"last_attempt_id" text,
	"call_back_at_ms" bigint,
	"message_left" boolean NOT NULL,
	"lease_owner" text,
	"carrier" text,
	"caller_id" text,
	"number_hash" text,
	"personal" "bytea",
	CONSTRAINT "contacts_tenant_id_campaign_id_ordinal_pk" PRIMARY KEY("tenant_id","campaign_id","ordinal")
);
--> statement-breakpoint
ALTER TABLE "offhook"."contacts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."paces" (
	"key" text PRIMARY KEY NOT NULL,
	"free_at_ms" double precision NOT NULL
);
--> statement-breakpoint
CREATE INDEX "campaigns_recent" ON "offhook"."campaigns" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "campaigns_by_state" ON "offhook"."campaigns" USING btree ("state");--> statement-breakpoint
CREATE INDEX "campaigns_unannounced" ON "offhook"."campaigns" USING btree ("changed_at_ms") WHERE state <> 'draft' AND announced_at_ms IS DISTINCT FROM changed_at_ms;--> statement-breakpoint
CREATE INDEX "campaigns_with_contacts" ON "offhook"."campaigns" USING btree ("ended_at_ms") WHERE erased_at_ms IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "contacts_by_number" ON "offhook"."contacts" USING btree ("tenant_id","number_hash","campaign_id");--> statement-breakpoint
CREATE INDEX "contacts_due" ON "offhook"."contacts" USING btree ("tenant_id","campaign_id","priority","due_at_ms","ordinal") WHERE state IN ('pending', 'waiting');--> statement-breakpoint
CREATE INDEX "contacts_leased" ON "offhook"."contacts" USING btree ("due_at_ms") WHERE state = 'leased';--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_once" ON "offhook"."attempts" USING btree ("tenant_id","contact_id","index") WHERE contact_id IS NOT NULL AND disposition IS DISTINCT FROM 'refused';--> statement-breakpoint
CREATE INDEX "attempts_ended" ON "offhook"."attempts" USING btree ("tenant_id","campaign_id","ended_at_ms","disposition") WHERE campaign_id IS NOT NULL;--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."campaigns" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."contacts" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));