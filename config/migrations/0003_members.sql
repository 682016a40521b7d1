CREATE TABLE "offhook"."members" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "members_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."members" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE UNIQUE INDEX "members_by_name" ON "offhook"."members" USING btree ("tenant_id",lower(name));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."members" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));