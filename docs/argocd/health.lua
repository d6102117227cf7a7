-- Health of a GpuClusterPolicy for Argo CD, by the rules of kstatus: put it under
-- resource.customizations.health.ostler.dev_GpuClusterPolicy in the ConfigMap argocd-cm.
local function find(kind)
  for _, condition in ipairs(obj.status and obj.status.conditions or {}) do
    if condition.type == kind then
      return condition
    end
  end
end

local ready, stalled, reconciling = find("Ready"), find("Stalled"), find("Reconciling")
if ready == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "Ostler has not looked at this generation yet" }
end
if stalled ~= nil and stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end
if reconciling ~= nil and reconciling.status == "True" then
  return { status = "Progressing", message = ready.message }
end
if ready.status == "True" then
  return { status = "Healthy", message = ready.message }
end
return { status = "Degraded", message = ready.message }
