kernel void work(global float *a, int n)
{
	float x = a[get_global_id(0)];

	for (int i = 0; i < n; i++)
		x = x * 0.999f + 0.5f;
	a[get_global_id(0)] = x;
}

kernel void other(global float *a)
{
	a[get_global_id(0)] += 1;
}
